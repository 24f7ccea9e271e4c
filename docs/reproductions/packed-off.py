import torch
from transformers import OPTConfig, OPTForCausalLM

torch.manual_seed(0)
small = dict(hidden_size=64, ffn_dim=64, num_hidden_layers=2, num_attention_heads=4)
model = OPTForCausalLM(OPTConfig(vocab_size=99, init_std=0.2, word_embed_proj_dim=64, **small))
model = model.eval()
ids, positions = torch.randint(3, 99, (1, 12)), torch.arange(6).repeat(2)[None]
off = model(ids, position_ids=positions, use_cache=False)
print((off.logits[:, 6:] - model(ids[:, 6:]).logits).abs().max().item())  # > 0.1
