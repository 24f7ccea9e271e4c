"""Put any encoding of locant into a pretrained model, and take it out again."""
