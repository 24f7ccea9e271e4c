"""Statistics of paired runs, on numpy and scipy alone: nothing from here on imports torch.

paired     differences of two entrants over the same seeds: intervals, tests, power
ranking    every entrant of a study in order, with tests corrected for their number
survival   which runs learned a task and when: shares with intervals, censored times
verdict    what a ranking allows to be said, in sentences
"""
