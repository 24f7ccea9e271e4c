import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
rope = dict(rope_type="dynamic", factor=2.0, rope_theta=10_000.0)
small = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
config = LlamaConfig(vocab_size=99, max_position_embeddings=64, rope_parameters=rope, **small)
config.initializer_range = 0.2
model, ids = LlamaForCausalLM(config).eval(), torch.randint(3, 99, (1, 256))
first, _, again = (model(ids[:, :count]).logits for count in (96, 256, 96))
print((first - again).abs().max().item())  # > 0.1
