"""`jobbko whisper-server`: speech recognition on this machine, by faster-whisper, behind OpenAI's transcription API."""
