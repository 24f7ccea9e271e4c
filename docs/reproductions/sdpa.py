import torch
from transformers import RecurrentGemmaForCausalLM

from locant.hf.checkpoints.random_weights import randomize
from locant.hf.checkpoints.tiny import tiny_config

model = randomize(RecurrentGemmaForCausalLM(tiny_config("recurrent_gemma")).eval())
rows, found = torch.randint(3, 99, (2, 14), generator=torch.Generator().manual_seed(0)), []
mask = torch.tensor([[1] * 14, [0] * 5 + [1] * 9])
for name in ("eager", "sdpa"):
    model.set_attn_implementation(name)
    found.append(model(rows, attention_mask=mask).logits[mask.bool()])
print((found[0] - found[1]).abs().max().item())  # > 0.01
