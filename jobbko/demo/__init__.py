"""What `jobbko demo` plays with."""
