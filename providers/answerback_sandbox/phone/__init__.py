"""The phone: a page in the browser and the JSON it lives on."""
