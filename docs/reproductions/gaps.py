import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
small = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
model = LlamaForCausalLM(LlamaConfig(vocab_size=99, initializer_range=0.2, **small)).eval()
ids, gap = torch.randint(3, 99, (1, 8)), torch.tensor([[0, 1, 2, 3, 7, 8, 9, 10]])
other = torch.cat([(ids[:, :1] + 1) % 99, ids[:, 1:]], 1)  # another first token
last = [model(x, position_ids=gap, use_cache=False).logits[:, -1] for x in (ids, other)]
print((last[0] - last[1]).abs().max().item())  # < 1e-6
