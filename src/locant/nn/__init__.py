"""Layers and models around attention.

transformer    Transformer: a whole model around one encoding, or one for each layer
encoder_layer  EncoderLayer: for nn.TransformerEncoder, in place of torch's own layer
float_mask     the masks of torch.nn, where True means hidden
dropout        dropout, exact or fast
"""

from locant.nn.encoder_layer import EncoderLayer as EncoderLayer
from locant.nn.transformer import Transformer as Transformer
