import torch
from transformers import LlamaConfig, LlamaForCausalLM

small = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4)
config = LlamaConfig(vocab_size=99, **small)
with torch.device("meta"):
    model = LlamaForCausalLM(config)
model.to_empty(device="cpu")
model.model.rotary_emb.inv_freq.fill_(7.0)  # whatever was in memory
print(model.load_state_dict(LlamaForCausalLM(config).state_dict()))  # says that all keys match
print((model.model.rotary_emb.inv_freq - 7).abs().max().item())  # < 1e-6
