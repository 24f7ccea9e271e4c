"""One file, one property that can be certified. A file here is found by itself.

Each file says, as plain values:

    SENTENCE  the property in one sentence
    CLAIM     the claim it certifies, or "law" (every encoding must obey), or "seen" (measured;
              nothing is claimed)
    BOUND     what is allowed, and WHY that much
    measure   (probe) → PropertyResult

`measure` only measures and says whether the bound is met; what that means for the claim is decided
in one place, `locant.certification.certificate`.
"""
