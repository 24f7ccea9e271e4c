"""Certify every text architecture of the installed transformers, built small with random weights,
and write docs/models.md.

    python docs/make_models.py [--results locant-results/models] [--out docs/models.md]
    [--date 2026-01-31] [--only llama,gpt2] [--seconds 120]

Each architecture has a process of its own, one thread and a time limit. What was measured is kept
in the folder of results, a file for each architecture, and is not measured again by the same
versions: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import hashlib
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import transformers
from models_page import page
from transformers.models.auto import modeling_auto

import locant.hf
from locant.hf.checking.certify_model import certify
from locant.hf.checkpoints.random_weights import randomize
from locant.hf.checkpoints.tiny import tiny_config

HEADS = {
    "causal": "MODEL_FOR_CAUSAL_LM_MAPPING",
    "masked": "MODEL_FOR_MASKED_LM_MAPPING",
    "seq2seq": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
}
MAX_WEIGHTS = 20_000_000
SCALED = ("after-long", "beside-long", "long-cache")  # measured with dynamic NTK where it can be
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10_000.0}
DECIDING = (
    "checking/certify_model",
    "checking/model_probe",
    "checking/model_result",
    "checkpoints/random_weights",
    "checkpoints/tiny",
)
NOT_MEASURED = {
    "cpmant": "it puts a prompt of its own before every row, and ignores attention_mask",
    "prophetnet": "it predicts several tokens at once, in streams of attention of its own",
}
Entry = tuple[str, str]  # a model type and one of HEADS


def entries() -> list[Entry]:
    """Every text architecture: a model type with a head."""
    return [
        (model_type, head)
        for head, mapping in HEADS.items()
        for model_type in sorted(getattr(modeling_auto, f"{mapping}_NAMES"))
    ]


def title(entry: Entry) -> str:
    model_type, head = entry
    return model_type if head == "causal" else f"{model_type} ({head})"


def build(entry: Entry, **more: Any) -> Any:
    """Build an architecture small, with random weights that let every token show."""
    model_type, head = entry
    config = tiny_config(model_type, **more)
    if hasattr(config, "is_decoder"):
        config.is_decoder = head == "causal"
    cls = getattr(modeling_auto, HEADS[head])[type(config)]
    with torch.device("meta"):
        weights = sum(weight.numel() for weight in cls(config).parameters())
    if weights > MAX_WEIGHTS:
        raise MemoryError(f"it has {weights:,} weights even with the small sizes")
    torch.manual_seed(0)
    model = randomize(cls(config).float().eval())
    if hasattr(model, "set_default_language"):
        model.set_default_language("en_XX")
    return model


def examine(entry: Entry) -> dict[str, Any]:
    """Certify one architecture, its dynamic scaling in a model of its own."""
    if entry[0] in NOT_MEASURED:
        raise ValueError(NOT_MEASURED[entry[0]])
    paper = certify(build(entry), name=title(entry)).to_dict()
    if any(one["name"] == "shifted" and one["verdict"] == "holds" for one in paper["findings"]):
        try:
            model = build(entry, rope_parameters=dict(DYNAMIC))
            scaled = certify(model, only=SCALED).to_dict()["findings"]
        except Exception:  # it has rotary parameters of another form: left as not applying
            return paper
        others = [one for one in paper["findings"] if one["name"] not in SCALED]
        paper["findings"] = others + scaled
        names = {"holds": [], "fails": []}
        for one in paper["findings"]:
            names.get(one["verdict"], []).append(one["name"])
        paper |= names
    return paper


def _child(entry: Entry, pipe: Any) -> None:
    torch.set_num_threads(1)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
            answer = examine(entry)
    except BaseException as problem:
        first = (str(problem).strip() or "no message").splitlines()[0]
        answer = {"model": title(entry), "problem": f"{type(problem).__name__}: {first}"}
    pipe.send(answer)


def in_a_process(entry: Entry, seconds: float) -> dict[str, Any]:
    """Certify one architecture in a process of its own, which is ended after so many seconds."""
    context = multiprocessing.get_context("fork")  # it has transformers imported already
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(entry, there))
    process.start()
    there.close()
    answer = {"model": title(entry), "problem": f"it took longer than {seconds:g} seconds"}
    try:
        if here.poll(seconds):
            answer = here.recv()
    except EOFError:
        answer["problem"] = "its process died"
    process.kill()
    process.join()
    return answer


def code_digest() -> str:
    """Name the code that decides a certificate, so that kept results are those of this code."""
    digest = hashlib.sha256(f"{torch.__version__} {transformers.__version__}".encode())
    room = Path(locant.hf.__file__).parent
    deciding = [room / f"{name}.py" for name in DECIDING]
    for path in (*deciding, *sorted((room / "checking" / "properties").glob("*.py"))):
        digest.update(_without_words(path).encode())
    digest.update(_without_words(Path(__file__)).encode())
    return digest.hexdigest()[:16]


def _without_words(path: Path) -> str:
    """Return the code of a file; another wording of a sentence is no other code."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            node.value = ""
    return ast.dump(tree)


def measured(
    chosen: list[Entry], folder: Path, seconds: float, workers: int
) -> list[dict[str, Any]]:
    """Certify what is not kept yet, and return all certificates."""
    folder.mkdir(parents=True, exist_ok=True)
    code = code_digest()

    def one(entry: Entry) -> dict[str, Any]:
        path = folder / f"{'-'.join(entry)}.json"
        kept = json.loads(path.read_text()) if path.exists() else {}
        if kept.get("code") == code:
            return kept["paper"]
        started = time.monotonic()
        paper = in_a_process(entry, seconds)
        path.write_text(json.dumps({"code": code, "paper": paper}, indent=1))
        found = paper.get("problem") or f"{len(paper['fails'])} fail"
        print(f"{title(entry)}: {found}, {time.monotonic() - started:.0f} s", file=sys.stderr)
        return paper

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, chosen))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("locant-results/models"))
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("models.md"))
    parser.add_argument(
        "--date", default=datetime.date.today().isoformat(), help="the day to write on the page"
    )
    parser.add_argument("--only", help="some model types, separated by commas; writes no page")
    parser.add_argument("--workers", type=int, default=1, help="architectures at a time")
    parser.add_argument("--seconds", type=float, default=120, help="the limit for an architecture")
    given = parser.parse_args()
    torch.set_num_threads(1)
    os.nice(10)
    chosen = entries()
    if given.only:
        chosen = [entry for entry in chosen if entry[0] in given.only.split(",")]
    certify(build(("llama", "causal")), only=["generated", "cast"])  # imports what all need, once
    papers = measured(chosen, given.results, given.seconds, given.workers)
    if given.only:
        return
    versions = {one: version(one) for one in ("transformers", "torch")}
    given.out.write_text(page(papers, given.date, versions), encoding="utf-8")
    print(f"wrote {given.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
