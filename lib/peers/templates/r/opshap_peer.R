# The protocol opshap-peer/1 for an estimator in base R: serve() and the game that it gives to a function.
#
# A frame is a line of JSON and the raw bytes that its key "nbytes" announces. Numbers are float64, little-endian. The
# keys that are read here are plain numbers and texts at the top of a frame, so that no JSON package is needed.

.peer <- new.env()
.peer$bytes <- raw(0)  # that have arrived and were not used yet

# Says hello and answers tasks until the host says goodbye. `estimate` is a function of a game that returns the values
# of its players, or list(values = , standard_errors = ).
serve <- function(estimate, version = "0.1") {
  # A fifo reads what is there. A file would wait until its buffer is full.
  .peer$source <- fifo(paste0("/dev/fd/", Sys.getenv("OPSHAP_FD_IN")), "rb", blocking = TRUE)
  .peer$sink <- fifo(paste0("/dev/fd/", Sys.getenv("OPSHAP_FD_OUT")), "wb", blocking = TRUE)
  needs <- strsplit(Sys.getenv("OPSHAP_PEER_NEEDS", "values"), ",")[[1]]
  write_frame(sprintf('"type":"hello","protocol":1,"name":"%s","version":"%s","needs":[%s]',
                      Sys.getenv("OPSHAP_PEER_NAME"), version, paste0('"', needs, '"', collapse = ",")))
  repeat {
    frame <- read_frame()
    if (is.null(frame) || frame$type == "bye") return(invisible())
    if (frame$type == "task") {
      solve_task(estimate, frame)
    } else if (frame$type != "stop") {  # one that has crossed the result of its task
      stop("frame: type=", frame$type, " (a task is awaited). Check the host.")
    }
  }
}

# What the function gets. The host counts: `budget` is one of distinct coalitions, and repetitions cost nothing.
#   players, budget, empty (v of nobody), grand (v of all), seed
#   left()           what is left of the budget; the empty and the grand coalition are paid already
#   values(masks)    v(S) for each row of a logical matrix [B, players]. A request beyond the budget is an error of
#                    class "budget_exceeded", and none of its coalitions is evaluated
#   partial(values)  tells the host what the values would be if the time were over now
new_game <- function(task) {
  game <- list(players = number(task, "n"), budget = number(task, "budget"), empty = number(task, "v_empty"),
               grand = number(task, "v_full"), seed = number(task, "seed"))
  id <- text(task, "id")
  left <- game$budget - 2
  game$left <- function() left
  game$values <- function(masks) {
    stopifnot(is.matrix(masks), ncol(masks) == game$players)
    padded <- matrix(FALSE, 8 * ceiling(game$players / 8), nrow(masks))  # a column is a coalition
    padded[seq_len(game$players), ] <- t(masks)
    bits <- packBits(as.vector(padded), "raw")
    write_frame(sprintf('"type":"eval","id":%s,"count":%d', id, nrow(masks)), bits)
    repeat {
      reply <- read_frame()
      if (is.null(reply)) stop("frame: nothing (the host has closed its pipe in the middle of a task).")
      if (reply$type == "stop" && text(reply, "id") != id) next  # of a task before, whose result has crossed it
      break
    }
    if (reply$type == "stop") signal("stop_requested", "time is over")
    if (reply$type == "error" && text(reply, "code") == "budget") signal("budget_exceeded", text(reply, "detail"))
    if (reply$type != "values" || text(reply, "id") != id || length(reply$payload) != 8 * nrow(masks))
      quit_now(paste0("frame: type=", reply$type, " (values are awaited). Check the host."))
    left <<- number(reply, "left")
    readBin(reply$payload, "double", nrow(masks), endian = "little")
  }
  game$partial <- function(values) {
    .peer$partial <- checked(values, game$players)
    write_frame(sprintf('"type":"partial","id":%s', id), bytes_of(.peer$partial))
  }
  game
}

solve_task <- function(estimate, task) {
  game <- new_game(task)
  id <- text(task, "id")
  .peer$partial <- NULL
  set.seed(game$seed %% .Machine$integer.max)
  fail <- function(reason, more = "") {
    reason <- gsub('["\\\\[:cntrl:]]', " ", reason)
    write_frame(sprintf('"type":"fail","id":%s,"reason":"%s"%s', id, reason, more))
  }
  tryCatch({
    found <- estimate(game)
    errors <- NULL
    if (is.list(found)) {
      errors <- found$standard_errors
      found <- found$values
    }
    payload <- bytes_of(checked(found, game$players))
    if (!is.null(errors)) payload <- c(payload, bytes_of(checked(errors, game$players)))
    write_frame(sprintf('"type":"result","id":%s,"standard_errors":%s', id, if (is.null(errors)) "false" else "true"),
                payload)
  }, stop_requested = function(condition) {
    if (is.null(.peer$partial)) fail("stopped before the first partial values")
    else write_frame(sprintf('"type":"result","id":%s', id), bytes_of(.peer$partial))
  }, refused = function(condition) {
    fail(conditionMessage(condition), ',"refused":true')
  }, error = function(condition) {  # the estimator's own: this task fails, and the next one may not
    message(conditionMessage(condition))
    fail(conditionMessage(condition))
  })
}

read_frame <- function() {
  repeat {
    end <- match(as.raw(10), .peer$bytes)
    if (!is.na(end) || !read_more()) break
    if (length(.peer$bytes) > 2^20) quit_now("frame: header (has no end). Check the host.")
  }
  if (is.na(end)) return(NULL)
  line <- taken(end)[-end]
  if (any(line == as.raw(0))) quit_now("frame: header (is no JSON). Check the host.")
  frame <- list(header = rawToChar(line), payload = raw(0))
  frame$type <- text(frame, "type")
  if (!startsWith(frame$header, "{") || is.na(frame$type))
    quit_now("frame: header (is no JSON object). Check the host.")
  count <- number(frame, "nbytes")
  if (!is.na(count) && count > 0) {
    while (length(.peer$bytes) < count) {
      if (!read_more()) quit_now("frame: nbytes (the pipe ended in the middle of a payload). Check the host.")
    }
    frame$payload <- taken(count)
  }
  frame
}

# Waits for bytes and keeps them. FALSE when the host has closed its end.
read_more <- function() {
  more <- readBin(.peer$source, "raw", 65536)  # what is there, not all of them
  .peer$bytes <- c(.peer$bytes, more)
  length(more) > 0
}

# The first bytes of those that are kept, which are kept no longer.
taken <- function(count) {
  first <- .peer$bytes[seq_len(count)]
  .peer$bytes <- tail(.peer$bytes, -count)
  first
}

write_frame <- function(keys, payload = raw(0)) {
  if (length(payload) > 0) keys <- sprintf('%s,"nbytes":%d', keys, length(payload))
  writeBin(c(charToRaw(paste0("{", keys, "}\n")), payload), .peer$sink)
}

# The value of a key as a text without quotes, NA where there is none.
text <- function(frame, key) {
  place <- regexec(paste0('"', key, '":("([^"]*)"|[^],}]+)'), frame$header, useBytes = TRUE)
  found <- regmatches(frame$header, place)[[1]]
  if (length(found) == 0) NA_character_ else if (startsWith(found[2], '"')) found[3] else found[2]
}

number <- function(frame, key) suppressWarnings(as.numeric(text(frame, key)))

bytes_of <- function(values) writeBin(as.double(values), raw(), endian = "little")

checked <- function(values, players) {
  if (length(values) != players) stop("game: values=", length(values), " (needs ", players, ", one a player).")
  values
}

# Called by an estimator where the budget or the game is not one for it. Comparisons then show no result with that
# reason. Any other error is a failure: a run that did not finish (DNF).
refuse <- function(...) signal("refused", paste0(...))

signal <- function(class, message) {
  stop(structure(class = c(class, "error", "condition"), list(message = message, call = NULL)))
}

quit_now <- function(message) {
  message(message)
  quit("no", status = 1)
}
