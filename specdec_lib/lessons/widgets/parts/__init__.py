"""What all simulators are made of: charts, controls, checked fields, and one module of it all."""
