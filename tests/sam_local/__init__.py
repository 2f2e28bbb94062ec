"""The functions under `sam local`, in containers, against the local stack: what `make sam-local` shows and
what its tests hold. Without a container engine they run under the emulator of Lambda's runtime."""
