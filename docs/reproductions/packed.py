import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
small = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
model = LlamaForCausalLM(LlamaConfig(vocab_size=99, initializer_range=0.2, **small)).eval()
ids, positions = torch.randint(3, 99, (1, 12)), torch.arange(6).repeat(2)[None]  # two sequences
alone = model(ids[:, 6:]).logits
print((model(ids, position_ids=positions).logits[:, 6:] - alone).abs().max().item())  # > 0.1
off = model(ids, position_ids=positions, use_cache=False)
print((off.logits[:, 6:] - alone).abs().max().item())  # < 1e-4
