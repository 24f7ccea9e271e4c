import copy

import torch
from transformers import LlamaConfig, LlamaForCausalLM

small = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4)
rotary = LlamaForCausalLM(LlamaConfig(vocab_size=99, **small)).model.rotary_emb
far, x = torch.tensor([[8_000]]), torch.zeros(1, 1, 64)
right, half = rotary(x, far)[0], x.bfloat16()
print((copy.deepcopy(rotary).bfloat16()(half, far)[0] - right).abs().max().item())  # > 0.1
print((rotary(half, far)[0] - right).abs().max().item())  # < 0.01
