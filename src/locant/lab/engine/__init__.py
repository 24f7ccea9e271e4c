"""Where runs are computed: on this machine, one process a core, or on a Ray cluster."""
