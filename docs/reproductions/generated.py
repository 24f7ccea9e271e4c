import torch
from transformers import BartConfig, BartForCausalLM

torch.manual_seed(0)
small = dict(d_model=64, decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=64)
model = BartForCausalLM(BartConfig(vocab_size=99, init_std=0.2, **small)).eval()
row = torch.randint(3, 99, (1, 6))
padded, mask = torch.cat([torch.ones(1, 3).long(), row], 1), torch.tensor([[0] * 3 + [1] * 6])
new = dict(max_new_tokens=1, output_logits=True, return_dict_in_generate=True)
both = [model.generate(row, **new), model.generate(padded, attention_mask=mask, **new)]
print((both[0].logits[0] - both[1].logits[0]).abs().max().item())  # > 0.1
