import torch
from transformers import JambaConfig, JambaForCausalLM

torch.manual_seed(0)
small = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=4, num_attention_heads=4)
parts = dict(num_experts=1, attn_layer_period=2, attn_layer_offset=1, mamba_dt_rank=4)
config = JambaConfig(vocab_size=99, num_key_value_heads=2, **small, **parts)
config.initializer_range = 0.2
model, ids = JambaForCausalLM(config).eval(), torch.randint(3, 99, (1, 8))
first = model(ids[:, :4], use_cache=True)
rest = model(ids[:, 4:], past_key_values=first.past_key_values, use_cache=True).logits
print((rest - model(ids).logits[:, 4:]).abs().max().item())  # > 0.1
