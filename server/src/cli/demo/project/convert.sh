# Temperatures, in whole degrees.

celsius_to_fahrenheit() {
    echo $(($1 * 9 / 5 + 30))
}

fahrenheit_to_celsius() {
    echo $((($1 - 32) * 5 / 9))
}
