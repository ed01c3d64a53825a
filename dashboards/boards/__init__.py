"""One module per board. Each says what is asked and where it stands; how a panel looks is the house's matter."""
