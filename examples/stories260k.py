"""Convert stories260K, a trained Llama of 260,000 weights, to a checkpoint folder of transformers.

    python examples/stories260k.py FOLDER_WITH_BIN_FILES OUT

The weights come from karpathy/tinyllamas (MIT): `stories260K.bin` and `tok512.bin`. The file pairs
neighboring dimensions (interleaved), transformers pairs the two halves: `locant.hf.load` reorders
the rows of the query and key projections by `locant.permute_for_pairing`.
"""

import sys
from pathlib import Path

from locant import hf
from locant.hf.checkpoints.tokenizer_files import load_tokenizer


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = Path(sys.argv[1]) / "stories260K.bin", Path(sys.argv[2])
    model, tokenizer = hf.load(source), load_tokenizer(source)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    prompt = tokenizer("Once upon a time", return_tensors="pt").input_ids
    written = model.generate(prompt, max_new_tokens=60, do_sample=False)[0]
    print(tokenizer.decode(written, skip_special_tokens=True))


if __name__ == "__main__":
    main()
