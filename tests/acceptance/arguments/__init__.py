"""What functions were handed, against what their registers held when they were called."""
