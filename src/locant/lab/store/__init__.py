"""What runs leave behind, and what a study asks for."""
