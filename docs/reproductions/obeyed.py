import torch
from transformers import BartConfig, BartForCausalLM

torch.manual_seed(0)
small = dict(d_model=64, decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=64)
model = BartForCausalLM(BartConfig(vocab_size=99, init_std=0.2, **small)).eval()
ids = torch.randint(3, 99, (1, 6))
doubled = model(ids, position_ids=2 * torch.arange(6)[None])  # accepted by **kwargs
print((doubled.logits - model(ids).logits).abs().max().item())  # < 1e-6
