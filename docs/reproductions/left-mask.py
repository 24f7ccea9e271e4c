import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=99, n_embd=64, n_layer=2, n_head=4, initializer_range=0.2)
model = GPT2LMHeadModel(config).eval()
row = torch.randint(3, 99, (1, 6))
padded, mask = torch.cat([torch.zeros(1, 3).long(), row], 1), torch.tensor([[0] * 3 + [1] * 6])
alone, positions = model(row).logits, (mask.cumsum(1) - 1).clamp(min=0)
print((model(padded, attention_mask=mask).logits[:, 3:] - alone).abs().max().item())  # > 0.1
given = model(padded, attention_mask=mask, position_ids=positions)
print((given.logits[:, 3:] - alone).abs().max().item())  # < 1e-4
