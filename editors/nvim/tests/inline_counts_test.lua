--- The counts of suggestions: their table, and what the real server says.

local counts = require("azimuth.inline.counts")
local fill_server = require("fill_server")
local stories = require("story_support")
local support = require("support")

local T = {}

--- A model with some numbers, and with 0 for the others.
---@param name string
---@param numbers? table
---@return azimuth.InlineModelCounts
local function counted(name, numbers)
  local of = { model = name, retention = {}, cost = 0 }
  for _, number in ipairs({
    "changes", "requests", "late", "failed", "given", "givenFromCache", "shown", "accepted", "partly", "partlyCharacters",
    "rejected", "ignored", "replaced",
  }) do
    of[number] = 0
  end
  return vim.tbl_extend("force", of, numbers or {})
end

---@param list string[]
---@param line string
local function has_line(list, line)
  assert(vim.tbl_contains(list, line), ("%q is not in:\n%s"):format(line, table.concat(list, "\n")))
end

function T.a_table_has_a_column_for_each_model()
  local retention = { { afterSeconds = 30, lookedFor = 4, kept = 3 }, { afterSeconds = 600, lookedFor = 0, kept = 0 } }
  local numbers = { shown = 12, accepted = 3, changes = 40, requests = 10, p50Ms = 119, retention = retention }
  local models = { counted("a", numbers), counted("vendor/b", { cost = 0.5, retention = retention }) }
  local lines = counts.drawn({ counted = true, days = 30, models = models }, 80).lines
  has_line(lines, "Suggestions in the last 30 days. The numbers are kept on this machine only.")
  has_line(lines, "                                 a  vendor/b")
  has_line(lines, "shown                           12         0")
  has_line(lines, "accepted                  3 (25 %)         0")
  has_line(lines, "still there after 30 s      3 of 4    3 of 4")
  has_line(lines, "still there after 10 min    0 of 0    0 of 0")
  has_line(lines, "requests for each key         0.25         -")
  has_line(lines, "half answered within        119 ms         -")
  has_line(lines, "cost                         $0.00    $0.500")
end

function T.models_that_do_not_fit_beside_each_other_are_below_each_other()
  local models = { counted("first/モデル"), counted("second/" .. ("x"):rep(90)) }
  for _, width in ipairs({ 20, 34, 50, 110 }) do
    local lines = counts.drawn({ counted = true, days = 1, models = models }, width).lines
    for at = 2, #lines do
      local wide = vim.fn.strdisplaywidth(lines[at])
      assert(wide <= math.max(width, 32), ("%d cells in %d: %s"):format(wide, width, lines[at]))
    end
    local tables = #vim.tbl_filter(function(line)
      return vim.startswith(line, "shown ")
    end, lines)
    support.equal(tables, width < 110 and 2 or 1)
  end
end

function T.without_counts_the_reason_is_said_and_the_cost_stays()
  local lines = counts.drawn({ counted = false, days = 30, models = { counted("a", { cost = 0.5 }) } }, 80).lines
  support.contains(lines[1], "Suggestions are not counted: `inline_counts` is off")
  support.equal(vim.list_slice(lines, #lines - 1), { "           a", "cost  $0.500" })
  lines = counts.drawn({ counted = true, days = 1, models = {} }, 80).lines
  support.contains(lines[1], "Nothing was counted today (UTC)")
  support.contains(lines[2], ":Azimuth inline why")
end

function T.what_is_no_number_of_days_is_said()
  local said, notify = {}, vim.notify
  vim.notify = function(message)
    table.insert(said, message)
  end
  for _, days in ipairs({ "0", "91", "1.5", "all" }) do
    counts.open(days)
  end
  vim.notify = notify
  support.equal(#said, 4)
  support.contains(said[4], '"all" is not a number of days from 1 to 90')
end

--- Runs a story with a model that knows the rest of the line.
---@param settings string
---@param story fun(child: Child)
local function typing(settings, story)
  local model = fill_server.start(function(prefix)
    return prefix:find("let sum = $") and "1 + 2;" or ""
  end)
  stories.run({
    code = "fn main() {\n    let sum = \n}\n",
    configuration = settings .. model:configuration(),
    ready = "require('azimuth.inline').state() == 'ready'",
    keys = "2GA",
    mode = "i",
  }, function(child)
    child:wait("require('azimuth.inline').visible()")
    child:type("<Tab>")
    child:wait("_G.line() == '    let sum = 1 + 2;'")
    child:type("<Esc>")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    story(child)
  end)
end

--- Waits until the list that is open has some text.
---@param child Child
---@param text string A pattern of Lua.
local function wait_for(child, text)
  child:wait(("vim.bo.buftype == 'nofile' and _G.text():find(%q) ~= nil"):format(text))
end

function T.what_was_accepted_is_in_the_list()
  typing("", function(child)
    child:command("Azimuth inline counts")
    wait_for(child, "Suggestions in the last 30 days")
    support.equal(child:lua("return vim.api.nvim_win_get_config(0).title[1][1]"), " How suggestions fare ")
    wait_for(child, "accepted +1 %(100 %%%)")
    wait_for(child, "shown +1\n")
    wait_for(child, "requests +%d+\n")
    child:type("q")
    child:wait("vim.fn.expand('%:t') == 'main.rs'")
    child:command("Azimuth inline counts 1")
    wait_for(child, "Suggestions today %(UTC%)")
    support.equal(child:lua("return vim.fn.getcompletion('Azimuth inline c', 'cmdline')"), { "counts" })
  end)
end

function T.the_list_says_that_counting_is_off()
  typing("inline_counts = false\n", function(child)
    child:command("Azimuth inline counts")
    wait_for(child, "Suggestions are not counted: `inline_counts` is off")
    support.lacks(child:lua("return _G.text()"), "accepted")
  end)
end

return T
