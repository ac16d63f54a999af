module example.org/tools/shop

go 1.19
