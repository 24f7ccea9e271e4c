"""What rotary encodings are built from.

scalings        stretch the frequencies, so that a model reaches past its trained length
half_pairs      turn half pairs in blocks that stay in the cache
hf_config       read a transformers configuration (hf_models, hf_layers, hf_parameters: its parts)
"""
