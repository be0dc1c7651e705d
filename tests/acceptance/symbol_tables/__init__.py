"""Function tables beside libbfd's: addresses, names, starts without symbols, memory."""
