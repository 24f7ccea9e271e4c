"""An ONNX graph with a dynamic length gives the same numbers as the model, learned tables
included."""

import pytest
import torch

import locant
from common import build

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", [*locant.names(), "rotary interleaved"])
def test_onnx_keeps_the_numbers_at_every_length(name, tmp_path):
    import onnxruntime

    torch.manual_seed(5)
    encoding = build(name, length=1024)
    model = locant.Transformer(encoding, layers=1, causal=True).eval()
    length = torch.export.Dim("length", min=2, max=1024)
    example = (torch.randn(1, 9, 32), locant.positions.consecutive(9))
    shapes = ({1: length}, {0: length})
    program = torch.onnx.export(model, example, dynamic_shapes=shapes, dynamo=True, verbose=False)
    program.save(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    names = [one.name for one in session.get_inputs()]
    for count in (2, 300, 700):
        x, pos = torch.randn(1, count, 32), locant.positions.consecutive(count)
        (got,) = session.run(None, dict(zip(names, (x.numpy(), pos.numpy()), strict=True)))
        torch.testing.assert_close(torch.from_numpy(got), model(x, pos), atol=2e-5, rtol=1e-4)
