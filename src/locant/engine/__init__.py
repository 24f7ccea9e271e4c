"""Where runs are computed: here, one process a core."""
