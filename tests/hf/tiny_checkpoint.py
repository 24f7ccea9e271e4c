"""Checkpoint folders of tiny models with random weights and a tokenizer of sixty words."""

import random

from locant.hf.checkpoints import loading
from locant.hf.checkpoints.tiny import tiny_config

LENGTH = 32
WORDS = [f"w{number}" for number in range(60)]


def save_checkpoint(folder, model_type="llama", **more):
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(["<unk>", "<s>", "</s>", *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    pair = [("<s>", 1), ("</s>", 2)]
    single = "<s> $A </s>" if model_type in ("bert", "roberta") else "<s> $A"
    tokenizer.post_processor = processors.TemplateProcessing(single=single, special_tokens=pair)
    sizes = {"max_position_embeddings": LENGTH, **more}
    model = loading.build(tiny_config(model_type, **sizes))
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    return folder


def words(count, seed=0):
    return " ".join(random.Random(seed).choices(WORDS, k=count))
