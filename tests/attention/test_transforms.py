"""What people do to modules: compile, vmap, export, cast, move to meta, save and load. Every
encoding bears it."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file

import locant
from common import EVERY, build, qkv, some_every_day, states_of
from locant.attention import attend
from locant.encodings.base import senses


def net(name, **settings):
    torch.manual_seed(5)
    return locant.Transformer(
        build(name), layers=2, embed=torch.nn.Linear(6, 32), **settings
    ).eval()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", EVERY)
def test_compiling_the_whole_graph_changes_nothing(name, causal):
    torch._dynamo.reset()
    model, x, pos = net(name, causal=causal), torch.randn(2, 9, 6), locant.positions.consecutive(9)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x, pos), model(x, pos))


@pytest.mark.parametrize("name", [*locant.names(), "rotary interleaved"])
def test_compiled_training_gives_the_same_gradients(name):
    torch._dynamo.reset()
    model, x, pos = (
        net(name),
        torch.randn(2, 150, 6),
        locant.positions.consecutive(64).repeat(3)[:150],
    )
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    parameters = list(model.parameters())
    plain = torch.autograd.grad(model(x, pos).square().mean(), parameters)
    quick = torch.autograd.grad(compiled(x, pos).square().mean(), parameters)
    for ours, theirs in zip(quick, plain, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", EVERY)
def test_vmap_over_models_inputs_and_positions_equals_a_loop(name):
    encoding = build(name)
    q, k, v = (torch.stack([t, t * 0.5, t - 0.1]) for t in qkv())
    pos = torch.stack([locant.positions.consecutive(11) + start for start in (0, 3, 50)])

    states = states_of(encoding, 11, 11)

    def one(q, k, v, pos):
        return attend(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos, **states)

    mapped = torch.func.vmap(one)(q, k, v, pos)
    loop = torch.stack([one(*each) for each in zip(q, k, v, pos, strict=True)])
    torch.testing.assert_close(mapped, loop, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", EVERY)
def test_per_sample_gradients_of_functional_calls_work(name):
    encoding = build(name)
    learned = dict(encoding.named_parameters())
    x, pos = torch.randn(3, 1, 7, 32), locant.positions.consecutive(7)
    layer = locant.Attention(encoding).eval()
    weights = dict(layer.named_parameters())

    def loss(parameters, x):
        return torch.func.functional_call(layer, parameters, (x, pos)).square().sum()

    grads = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weights, x)
    assert all(grads[f"encoding.{key}"].shape[0] == 3 for key in learned)


@pytest.mark.parametrize("name", some_every_day("t5", "rotary", "shaw", "pope"))
@pytest.mark.parametrize("causal", [False, True])
def test_a_graph_exported_with_a_dynamic_length_gives_the_same_numbers_at_every_length(
    name, causal
):
    torch.manual_seed(5)
    encoding = build(name, length=1024)
    model = locant.Transformer(encoding, layers=2, causal=causal).eval()
    length = torch.export.Dim("length", min=2, max=4096 if encoding.extrapolates else 1024)
    example = (torch.randn(1, 9, 32), locant.positions.consecutive(9))
    program = torch.export.export(
        model, example, dynamic_shapes=({1: length}, {0: length})
    ).module()
    rounding = 5e-5 if senses(encoding) else 2e-5  # running sums of some hundreds are rounded too
    for count in (2, 7, 300, 700):
        x, pos = torch.randn(1, count, 32), locant.positions.consecutive(count)
        torch.testing.assert_close(program(x, pos), model(x, pos), atol=rounding, rtol=1e-4)


@pytest.mark.parametrize("name", EVERY)
def test_casting_to_bfloat16_rounds_weights_but_no_angle(name):
    model, x, pos = net(name), torch.randn(2, 9, 6), locant.positions.consecutive(9)
    rounded = net(name).bfloat16()
    weights = {key: value.float() for key, value in rounded.state_dict().items()}
    model.load_state_dict(weights)
    out = rounded(x.bfloat16(), pos)
    assert out.dtype == torch.bfloat16
    assert (out.float() - model(x.bfloat16().float(), pos)).abs().max() < 0.15


@pytest.mark.parametrize("name", EVERY)
def test_a_model_made_on_meta_gives_the_same_after_its_weights_are_loaded(name):
    model, x, pos = net(name), torch.randn(2, 9, 6), locant.positions.consecutive(9)
    with torch.device("meta"):
        torch.manual_seed(5)
        empty = locant.Transformer(build(name), layers=2, embed=torch.nn.Linear(6, 32)).eval()
    real = empty.to("meta").to_empty(device="cpu")
    real.load_state_dict(model.state_dict())
    assert torch.equal(real(x, pos), model(x, pos))


@pytest.mark.parametrize("name", EVERY)
def test_weights_survive_safetensors(name, tmp_path):
    model, x, pos = net(name), torch.randn(2, 9, 6), locant.positions.consecutive(9)
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    torch.manual_seed(99)
    other = locant.Transformer(build(name, seed=7), layers=2, embed=torch.nn.Linear(6, 32)).eval()
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(other(x, pos), model(x, pos))


@pytest.mark.parametrize("name", EVERY)
def test_a_fixed_encoding_stores_nothing(name):
    encoding = build(name)
    assert not list(encoding.buffers())
    assert set(encoding.state_dict()) == {key for key, _ in encoding.named_parameters()}


@pytest.mark.parametrize("name", EVERY)
def test_float64_all_the_way_stays_float64(name):
    model = net(name).double()
    assert (
        model(torch.randn(1, 5, 6, dtype=torch.float64), locant.positions.consecutive(5)).dtype
        == torch.float64
    )
