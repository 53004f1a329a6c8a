"""Speech: files of subtitles, read as they are found and written as they should be."""
