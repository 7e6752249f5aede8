"""What all chapters' lessons are made of: examples, hints, drawing, answers."""
