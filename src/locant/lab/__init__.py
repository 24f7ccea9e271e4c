"""The laboratory: honest comparisons of encodings.

studies     what is compared, as TOML files; `tasks`, on what; `training`, how
engine      runs of a study, on local cores or by ray; `store`, where they are kept
statistics  verdicts; `report`, how they are told
"""
