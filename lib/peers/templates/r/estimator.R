# {{name}}: the mean of marginal contributions along random orderings, with standard errors.
#
# Replace the body of {{function}}() by your own method. Then:
#
#     opshap peer check {{name}}
#     opshap compare --game unanimity_sum --players 16 --methods peer:{{name}},permutation --budgets 4n,8n,16n

source("opshap_peer.R")

{{function}} <- function(game) {
  n <- game$players
  if (n == 1) return(game$grand - game$empty)
  orderings <- game$left() %/% (n - 1)  # the empty and the grand coalition are paid already
  if (orderings == 0) refuse("budget=", game$budget, " (an ordering of ", n, " players needs ", n + 1, " coalitions)")
  total <- squares <- numeric(n)
  for (done in seq_len(orderings)) {
    ordering <- sample.int(n)
    # Row k holds the first k players of the ordering; the last one would be the grand coalition.
    masks <- matrix(FALSE, n - 1, n)
    masks[, ordering] <- outer(seq_len(n - 1), seq_len(n), ">=")
    along <- c(game$empty, game$values(masks), game$grand)
    gains <- numeric(n)
    gains[ordering] <- diff(along)
    total <- total + gains
    squares <- squares + gains^2
    if (bitwAnd(done, done - 1) == 0) game$partial(total / done)  # after 1, 2, 4, ... orderings
  }
  mean <- total / orderings
  if (orderings == 1) return(mean)
  variance <- pmax(squares - orderings * mean^2, 0) / (orderings - 1)
  list(values = mean, standard_errors = sqrt(variance / orderings))
}

serve({{function}})
