"""What strangers' files say is shown as what it is: hostile names in all fields and forms."""
