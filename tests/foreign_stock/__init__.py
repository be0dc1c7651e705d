"""The distribution's programs of other instruction sets, stopped by qemu-user in their work."""
