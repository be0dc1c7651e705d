"""What everything stands on: errors, the native module, and the image of a process."""
