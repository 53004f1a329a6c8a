"""The music library: files on disk, what they are, how they sound. Tables: tracks, artists, albums, …"""
