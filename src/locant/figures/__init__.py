"""What people see: `data`, the numbers of a picture; `walkthrough`, worked arithmetic; `plots`, the pictures."""
