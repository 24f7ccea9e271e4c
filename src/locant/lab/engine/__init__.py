"""Where runs are computed: here, one process a core, or on a Ray cluster."""
