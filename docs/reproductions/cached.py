import torch
from transformers import BambaConfig, BambaForCausalLM

torch.manual_seed(0)
small = dict(hidden_size=64, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2)
mamba = dict(mamba_n_heads=8, mamba_d_head=16, mamba_n_groups=1, mamba_d_state=16)
config = BambaConfig(num_hidden_layers=3, attn_layer_indices=[1], vocab_size=99, **small, **mamba)
config.initializer_range = 0.2
model, ids = BambaForCausalLM(config).eval(), torch.randint(3, 99, (1, 9))
for given in ({}, {"position_ids": torch.tensor([[8]])}):
    cache = model(ids[:, :8], use_cache=True).past_key_values
    last = model(ids[:, 8:], past_key_values=cache, **given).logits
    print((last - model(ids).logits[:, 8:]).abs().max().item())  # > 0.1, then < 1e-4
