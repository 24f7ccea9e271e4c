"""Any encoding in a pretrained model, through transformers' own attention interface, and back."""

import pytest
import torch

import locant
from locant.hf.checkpoints import loading
from locant.hf.checkpoints.tiny import tiny_config
from locant.hf.swapping import swapped_attention
from locant.hf.swapping.swap_encoding import attention_layers, swap

pytest.importorskip("transformers", reason="pip install 'locant[hf]' brings transformers")

LENGTH = 64
ROTARY = ("llama", "mistral", "qwen3", "gemma", "olmo", "gpt_neox")


def tiny(model_type, **more):
    return loading.build(tiny_config(model_type, **more))


def ids_for(model, rows=2, length=12, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, model.config.vocab_size, (rows, length), generator=generator)


def shape_of(model):
    config = model.config
    heads = config.num_attention_heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
    return {"dim": heads * head_dim, "heads": heads, "length": LENGTH}


def own_rotary(model):
    return locant.encodings.Rotary.from_hf_config(model.config)


def logits(model, *given, **named):
    with torch.no_grad():
        return model(*given, **named).logits


def padded_left(ids, pads):
    """The same rows with `pads` padding tokens before row 1, and its mask."""
    mask = torch.ones_like(ids)
    mask[1, :pads] = 0
    return mask, (mask.cumsum(-1) - 1).clamp_min(0)


@pytest.mark.parametrize("model_type", ROTARY)
def test_a_models_own_rotary_swapped_in_gives_its_own_logits(model_type):
    model = tiny(model_type)
    ids = ids_for(model)
    own = logits(model, ids, use_cache=False)
    with swap(model, own_rotary(model)):
        torch.testing.assert_close(logits(model, ids, use_cache=False), own, atol=1e-4, rtol=0)
        torch.testing.assert_close(logits(model, ids, use_cache=True), own, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    "model_type",
    ["llama", "qwen3", "phi3", "olmo", "gpt_neox", "bert", "gpt2", "t5", "bloom", "mpt"],
)
def test_what_read_finds_in_a_model_swapped_in_gives_its_own_logits(model_type):
    model = tiny(model_type)
    ids = ids_for(model)
    more = {"decoder_input_ids": ids} if model_type == "t5" else {}
    own = logits(model, ids, **more)
    with swap(model, locant.hf.read(model)):
        torch.testing.assert_close(logits(model, ids, **more), own, atol=1e-4, rtol=0)


def test_left_padding_and_packing_stay_what_the_model_makes_of_them():
    model = tiny("llama")
    ids = ids_for(model)
    mask, pos = padded_left(ids, 4)
    packed = torch.tensor([[*range(5), *range(7)]] * 2)
    own = logits(model, ids, attention_mask=mask, position_ids=pos)
    own_packed = logits(model, ids, position_ids=packed, use_cache=False)
    with swap(model, own_rotary(model)):
        mine = logits(model, ids, attention_mask=mask, position_ids=pos)
        mine_packed = logits(model, ids, position_ids=packed, use_cache=False)
    torch.testing.assert_close(mine[mask.bool()], own[mask.bool()], atol=1e-4, rtol=0)
    torch.testing.assert_close(mine_packed, own_packed, atol=1e-4, rtol=0)


def test_without_its_mask_function_padding_would_vanish():
    model = tiny("llama")
    ids = ids_for(model)
    mask, pos = padded_left(ids, 4)
    other = ids.clone()
    other[1, :4] = 3
    with swap(model, own_rotary(model)):
        first = logits(model, ids, attention_mask=mask, position_ids=pos)
        second = logits(model, other, attention_mask=mask, position_ids=pos)
    torch.testing.assert_close(first[1, 4:], second[1, 4:], atol=1e-5, rtol=0)


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("name", ["own", "t5", "shaw", "dynamic"])
def test_generate_with_cache_padding_and_beams_is_generate_without_a_cache(name, beams):
    model = tiny("llama")
    model.generation_config.pad_token_id = 0
    ids = ids_for(model)
    mask, _ = padded_left(ids, 4)
    encoding = own_rotary(model) if name == "own" else locant.make(name, **shape_of(model))
    settings = {"max_new_tokens": 8, "do_sample": False, "num_beams": beams, "eos_token_id": None}
    own = model.generate(ids, attention_mask=mask, use_cache=True, **settings)
    with swap(model, encoding):
        cached = model.generate(ids, attention_mask=mask, use_cache=True, **settings)
        uncached = model.generate(ids, attention_mask=mask, use_cache=False, **settings)
    assert cached.tolist() == uncached.tolist()
    if name == "own":
        assert cached.tolist() == own.tolist()


@pytest.mark.parametrize("name", locant.names())
def test_any_encoding_acts_in_a_llama_as_attend_does_and_decodes_from_a_cache(name):
    model = tiny("llama")
    encoding = locant.make(name, **shape_of(model))
    for weight in encoding.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    ids = ids_for(model)
    seen = {}
    _, layer = attention_layers(model)[1]
    with swap(model, encoding):
        attend_swapped = seen_calls(layer, seen)
        full = logits(model, ids, use_cache=False)
        attend_swapped.remove()
        first = model(ids[:, :5], use_cache=True)
        rest = logits(model, ids[:, 5:], past_key_values=first.past_key_values)
    torch.testing.assert_close(rest, full[:, 5:], atol=1e-4, rtol=1e-4)
    pos = torch.arange(ids.shape[1])
    expected = by_hand(layer, encoding, seen["x"], pos)
    torch.testing.assert_close(seen["out"], expected, atol=1e-5, rtol=1e-4)


class Remembers(locant.Encoding):
    """A bias that learns from tokens: each forgets a share of what came before it."""

    def __init__(self, shape, state_heads):
        super().__init__(shape)
        self.gate = torch.nn.Linear(shape.dim, state_heads)

    def sense(self, x, pos, past=None):
        kept = torch.nn.functional.logsigmoid(self.gate(x)).transpose(1, 2)[..., None]
        total = kept.cumsum(-2)
        return total if past is None else total + past[..., -1:, :]

    def state_bias(self, q_pos, k_pos, q_state, k_state):
        return q_state - k_state.transpose(-1, -2)


@pytest.mark.parametrize("state_heads", ["one", "all"])
def test_states_of_tokens_are_cached_beside_their_keys(state_heads):
    model = tiny("llama")
    model.generation_config.pad_token_id = 0
    shape = locant.Shape(**shape_of(model))
    encoding = Remembers(shape, 1 if state_heads == "one" else shape.heads)
    torch.nn.init.normal_(encoding.gate.weight)
    ids = ids_for(model)
    settings = {"max_new_tokens": 6, "do_sample": False, "num_beams": 3, "eos_token_id": None}
    own = logits(model, ids)
    with swap(model, encoding):
        full = logits(model, ids, use_cache=False)
        first = model(ids[:, :5], use_cache=True)
        rest = logits(model, ids[:, 5:], past_key_values=first.past_key_values)
        cached = model.generate(ids, use_cache=True, **settings)
        uncached = model.generate(ids, use_cache=False, **settings)
    assert not torch.allclose(full, own, atol=1e-3)
    torch.testing.assert_close(rest, full[:, 5:], atol=1e-4, rtol=1e-4)
    assert cached.tolist() == uncached.tolist()


def seen_calls(layer, seen):
    """Note what a layer is given and what it answers."""

    def note(module, args, named, out):
        seen["x"] = args[0] if args else named["hidden_states"]
        seen["out"] = out[0]

    return layer.register_forward_hook(note, with_kwargs=True)


def by_hand(layer, encoding, x, pos):
    """A Llama's attention as `attend` computes it from the layer's own q, k and v."""
    split = [
        project(x).unflatten(-1, (-1, layer.head_dim)).transpose(1, 2)
        for project in (layer.q_proj, layer.k_proj, layer.v_proj)
    ]
    state = encoding.sense(x, pos)
    states = {"q_state": state, "k_state": state}
    out = locant.attend(*split, encoding=encoding, q_pos=pos, k_pos=pos, causal=True, **states)
    return layer.o_proj(out.transpose(1, 2).flatten(2)).detach()


@pytest.mark.parametrize("model_type", ["bert", "roberta", "gpt2"])
def test_a_models_own_table_swapped_in_gives_its_own_logits(model_type):
    model = tiny(model_type)
    name = "wpe" if model_type == "gpt2" else "position_embeddings"
    table = next(m for n, m in model.named_modules() if n.endswith(name)).weight
    shape = shape_of(model) | {"length": len(table)}
    learned = locant.make("learned", **shape)
    learned.table.data = table.data.clone()
    ids = ids_for(model)
    mask = torch.ones_like(ids)
    mask[1, 8:] = 0
    own = logits(model, ids, attention_mask=mask)
    with swap(model, learned):
        mine = logits(model, ids, attention_mask=mask)
    torch.testing.assert_close(mine[mask.bool()], own[mask.bool()], atol=1e-4, rtol=0)


def test_bert_reaches_past_its_table_with_an_encoding_that_does():
    model = tiny("bert")
    length = 2 * model.config.max_position_embeddings
    shape = shape_of(model) | {"length": length}
    with swap(model, locant.make("rotary", **shape)):
        assert logits(model, ids_for(model, length=length)).isfinite().all()


def test_t5_takes_its_own_bias_from_locant():
    model = tiny("t5")
    model.generation_config.decoder_start_token_id = 0
    ids = ids_for(model)
    own = logits(model, ids, decoder_input_ids=ids)
    encodings = []
    for stack, sides in ((model.encoder, "both"), (model.decoder, "behind")):
        config = model.config
        encoding = locant.make(
            "t5",
            dim=config.num_heads * config.d_kv,
            heads=config.num_heads,
            buckets=config.relative_attention_num_buckets,
            max_distance=config.relative_attention_max_distance,
            sides=sides,
        )
        own_bias = stack.block[0].layer[0].SelfAttention.relative_attention_bias
        encoding.table.data = own_bias.weight.data.clone()
        encodings += [encoding] * len(stack.block)
    with swap(model, encodings):
        mine = logits(model, ids, decoder_input_ids=ids)
        settings = {"max_new_tokens": 5, "num_beams": 2, "do_sample": False}
        cached = model.generate(ids, use_cache=True, **settings)
        uncached = model.generate(ids, use_cache=False, **settings)
    torch.testing.assert_close(mine, own, atol=1e-4, rtol=0)
    assert cached.tolist() == uncached.tolist()


@pytest.mark.parametrize("model_type", ["mpt", "bloom"])
def test_mpt_and_bloom_take_their_own_alibi_from_locant(model_type):
    model = tiny(model_type)
    model.generation_config.pad_token_id = 0
    ids = ids_for(model)
    mask, _ = padded_left(ids, 4)
    own = logits(model, ids, attention_mask=mask)
    settings = {"max_new_tokens": 5, "num_beams": 2, "do_sample": False, "eos_token_id": None}
    own_text = model.generate(ids, attention_mask=mask, **settings)
    with swap(model, locant.make("alibi", sides="causal", **shape_of(model))):
        mine = logits(model, ids, attention_mask=mask)
        text = model.generate(ids, attention_mask=mask, **settings)
    torch.testing.assert_close(mine[mask.bool()], own[mask.bool()], atol=1e-4, rtol=0)
    assert text.tolist() == own_text.tolist()


@pytest.mark.parametrize("model_type", ["llama", "bert", "gpt2", "t5", "bloom"])
def test_restore_brings_the_old_bits_back(model_type):
    model = tiny(model_type)
    ids = ids_for(model)
    more = {"decoder_input_ids": ids} if model_type == "t5" else {}
    own, names = logits(model, ids, **more), list(model.state_dict())
    shape = shape_of(model)
    found = swap(model, locant.make("kerple", **shape))
    assert not torch.equal(logits(model, ids, **more), own)
    found.restore()
    found.restore()
    assert torch.equal(logits(model, ids, **more), own)
    assert list(model.state_dict()) == names


@pytest.mark.parametrize("model_type", ["llama", "bert", "gpt2", "t5", "bloom"])
def test_a_swapped_model_says_so_and_is_neither_swapped_again_nor_saved(model_type, tmp_path):
    model = tiny(model_type)
    before = [type(one) for one in locant.hf.read(model)]
    alibi = locant.make("alibi", **shape_of(model))
    swapped = swap(model, alibi)
    assert all(one is alibi for one in locant.hf.read(model))
    with pytest.raises(ValueError, match="swapped already"):
        swap(model, alibi)
    with pytest.raises(ValueError, match="cannot be saved"):
        model.save_pretrained(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    swapped.restore()
    assert [type(one) for one in locant.hf.read(model)] == before
    model.save_pretrained(tmp_path / "model")
    with swap(model, alibi):
        pass


def test_a_name_is_not_taken_for_a_list_of_encodings():
    with pytest.raises(ValueError, match="'rotary'"):
        swap(tiny("llama"), "rotary")


def test_a_swapped_encoding_is_trained_with_its_model():
    model = tiny("llama")
    encoding = locant.make("t5", **shape_of(model))
    with swap(model, encoding):
        assert any(weight is encoding.table for weight in model.parameters())
        model(ids_for(model), labels=ids_for(model)).loss.backward()
    assert encoding.table.grad.abs().sum() > 0


@pytest.mark.parametrize(
    ("model_type", "make", "problem"),
    [
        ("llama", lambda shape: locant.make("rotary", dim=24, heads=3), "heads of"),
        ("llama", lambda shape: [locant.make("none", **shape)], "1 encodings were given"),
        ("llama", lambda shape: "rotary", "needs an encoding"),
        ("llama", lambda shape: locant.make("sinusoidal", join="concat", **shape), "no weights"),
        ("opt", lambda shape: locant.make("none", **shape), "does not know"),
        ("falcon", lambda shape: locant.make("none", **shape), "code of its own"),
        ("gpt_oss", lambda shape: locant.make("none", **shape), "sinks"),
    ],
)
def test_what_cannot_be_swapped_is_refused_and_the_model_is_left_as_it_was(
    model_type, make, problem
):
    model = tiny(model_type)
    before = model.config._attn_implementation
    with pytest.raises(ValueError, match=problem):
        swap(model, make(shape_of(model)))
    assert model.config._attn_implementation == before
    assert not any(hasattr(module, "locant_encoding") for module in model.modules())


def test_a_mask_with_numbers_between_is_refused():
    with pytest.raises(ValueError, match="show or hide"):
        swapped_attention.as_boolean(torch.tensor([0.0, -1.0]))
