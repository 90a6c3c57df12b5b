--- `:Azimuth inline counts`: how the suggestions of each model fare, as the server has counted them on this machine.

local blocks = require("azimuth.render.block")
local client = require("azimuth.client")
local lists = require("azimuth.list")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

--- The days for which the server keeps numbers.
M.MAX_DAYS = 90

--- The widest name of a model, in cells.
local MAX_NAME = 40

---@alias azimuth.inline.CountsRow { [1]: string, [2]: string } The label and the value.

--- The list that is open.
---@type azimuth.List?
local list = nil

---@param number integer
---@param of integer
---@return string
local function with_share(number, of)
  return of > 0 and ("%d (%.0f %%)"):format(number, number / of * 100) or ("%d"):format(number)
end

---@param seconds integer
---@return string
local function span(seconds)
  return seconds < 60 and ("%d s"):format(seconds) or ("%d min"):format(math.floor(seconds / 60))
end

--- The rows of a model, which are those of `azimuth suggestions`.
---@param of azimuth.InlineModelCounts
---@param is_counted boolean
---@return azimuth.inline.CountsRow[]
local function rows(of, is_counted)
  if not is_counted then
    return { { "cost", text.dollars(of.cost) } }
  end
  local function ms(time)
    return time and ("%d ms"):format(time) or "-"
  end
  local all = {
    { "shown", ("%d"):format(of.shown) },
    { "accepted", with_share(of.accepted, of.shown) },
    { "accepted in part", with_share(of.partly, of.shown) },
    { "characters of parts", ("%d"):format(of.partlyCharacters) },
    { "rejected", with_share(of.rejected, of.shown) },
    { "ignored", with_share(of.ignored, of.shown) },
    { "replaced", with_share(of.replaced, of.shown) },
  }
  for _, one in ipairs(of.retention) do
    table.insert(all, { "still there after " .. span(one.afterSeconds), ("%d of %d"):format(one.kept, one.lookedFor) })
  end
  return vim.list_extend(all, {
    { "requests", ("%d"):format(of.requests) },
    { "late", with_share(of.late, of.requests) },
    { "failed", with_share(of.failed, of.requests) },
    { "requests for each key", of.changes > 0 and ("%.2f"):format(of.requests / of.changes) or "-" },
    { "needed no request", with_share(of.givenFromCache, of.given) },
    { "half answered within", ms(of.p50Ms) },
    { "nine of ten within", ms(of.p90Ms) },
    { "cost", text.dollars(of.cost) },
  })
end

---@param word string
---@param width integer
---@return string
local function to_the_right(word, width)
  return (" "):rep(width - vim.fn.strdisplaywidth(word)) .. word
end

--- Puts one table: a column for each of some models.
---@param block azimuth.Block
---@param names string[]
---@param columns azimuth.inline.CountsRow[][]
---@param widths integer[] Of the labels, then of each column.
local function put_table(block, names, columns, widths)
  local head = { (" "):rep(widths[1]) }
  for at, name in ipairs(names) do
    table.insert(head, to_the_right(name, widths[at + 1]))
  end
  blocks.put(block, table.concat(head, "  "), "AzimuthUser")
  for row, labelled in ipairs(columns[1]) do
    local cells = { labelled[1] .. (" "):rep(widths[1] - vim.fn.strdisplaywidth(labelled[1])) }
    for at, column in ipairs(columns) do
      table.insert(cells, to_the_right(column[row][2], widths[at + 1]))
    end
    blocks.put(block, table.concat(cells, "  "))
    table.insert(block.marks, { row = #block.lines - 1, col = 0, end_col = #cells[1], group = "AzimuthDim" })
  end
end

--- Puts the models, beside each other as far as the width allows, and the others below.
---@param block azimuth.Block
---@param counts azimuth.InlineCountsResult
---@param width integer
local function put_models(block, counts, width)
  local names, columns, widths = {}, {}, {}
  local function finish()
    if #names > 0 then
      blocks.put(block, "")
      put_table(block, names, columns, widths)
    end
    names, columns, widths = {}, {}, {}
  end
  local taken = 0
  for _, model in ipairs(counts.models) do
    local name = text.shortened(vim.fn.strtrans(model.model), math.min(MAX_NAME, math.max(8, width - 28)))
    local column = rows(model, counts.counted)
    local wide = vim.fn.strdisplaywidth(name)
    local labels = 0
    for _, row in ipairs(column) do
      labels = math.max(labels, vim.fn.strdisplaywidth(row[1]))
      wide = math.max(wide, vim.fn.strdisplaywidth(row[2]))
    end
    if #names > 0 and taken + 2 + wide > width then
      finish()
    end
    if #names == 0 then
      widths[1], taken = labels, labels
    end
    taken = taken + 2 + wide
    table.insert(names, name)
    table.insert(columns, column)
    table.insert(widths, wide)
  end
  finish()
end

--- The lines of the list.
---@param counts azimuth.InlineCountsResult
---@param width integer
---@return azimuth.Block
function M.drawn(counts, width)
  local block = blocks.new()
  local time = counts.days == 1 and "today (UTC)" or ("in the last %d days"):format(counts.days)
  if not counts.counted then
    blocks.put(block, "Suggestions are not counted: `inline_counts` is off in config.toml.", "AzimuthWarning")
    blocks.put(block, "Take that line out to have them counted from then on.", "AzimuthDim")
  elseif #counts.models == 0 then
    blocks.put(block, ("Nothing was counted %s: no model has suggested text."):format(time), "AzimuthDim")
    blocks.put(block, ":Azimuth inline says if there is a model, :Azimuth inline why says why it is silent.", "AzimuthDim")
  else
    blocks.put(block, ("Suggestions %s. The numbers are kept on this machine only."):format(time), "AzimuthDim")
  end
  put_models(block, counts, width)
  return block
end

--- Asks the server, which is started if need be, and opens the list.
---@param given? string The number of days; without it, the server's choice.
function M.open(given)
  local days = tonumber(given)
  if given and (not days or days ~= math.floor(days) or days < 1 or days > M.MAX_DAYS) then
    local problem = "Azimuth: %q is not a number of days from 1 to %d; :Azimuth inline counts 1 counts today."
    vim.notify(problem:format(given, M.MAX_DAYS), vim.log.levels.ERROR)
    return
  end
  client.request(protocol.requests.inline_counts, { days = days }, function(err, result)
    if err then
      vim.notify("Azimuth: " .. err.message, vim.log.levels.ERROR)
      return
    end
    if list then
      list:close()
    end
    list = lists.open({
      title = "How suggestions fare",
      footer = { "q closes" },
      draw = function(width)
        return M.drawn(result, width), {}
      end,
      keys = {},
      closed = function()
        list = nil
      end,
    })
  end)
end

return M
