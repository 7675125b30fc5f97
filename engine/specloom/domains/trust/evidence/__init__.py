"""What several sources say for and against statements, how independent they are, and what is missing."""
