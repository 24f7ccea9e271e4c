"""One file, one question put to a model."""

UNSEEN = "unseen data"  # what decides, unless a published protocol has it otherwise
NAB = "LOCANT_NAB"  # the variable that names the folder of real series
UNLABELLED = "labels that no row was shown"  # where what is judged is also learnt from
