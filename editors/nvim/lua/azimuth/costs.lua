--- `:Azimuth costs`: what models cost, the budgets, and what vendors still allow, as the server tells them.

local blocks = require("azimuth.render.block")
local client = require("azimuth.client")
local lists = require("azimuth.list")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

--- The widest first column and the least wide one, in cells, and the most rows of a table by project or by day.
local MAX_NAME = 44
local FIRST = 30
local MAX_ROWS = 14

--- The list that is open.
---@type azimuth.List?
local list = nil

---@param share? number
---@return string
local function percent(share)
  return share and ("%.0f %%"):format(share * 100) or "-"
end

--- A cost, or as much as is known of it.
---@param of azimuth.Spending
---@return string
function M.amount(of)
  if not of.cost then
    return "unknown"
  end
  return text.dollars(of.cost) .. (of.unpricedRequests > 0 and " and more" or "")
end

---@param usage azimuth.Usage
---@return string
local function input(usage)
  return text.count(usage.input + usage.cacheRead + usage.cacheWrite)
end

--- A span, to the second below a minute and to the minute below a day.
---@param ms number
---@return string
local function span(ms)
  local seconds = math.ceil(math.max(0, ms) / 1000)
  local days, hours, minutes = math.floor(seconds / 86400), math.floor(seconds / 3600) % 24, math.floor(seconds / 60) % 60
  if days > 0 then
    return ("%d d %d h"):format(days, hours)
  elseif hours > 0 then
    return ("%d h %d min"):format(hours, minutes)
  end
  return minutes > 0 and ("%d min"):format(minutes) or ("%d s"):format(seconds)
end

--- Puts a table under its title: the first column to the left, the others to the right.
---@param into azimuth.Block
---@param head string[]
---@param rows string[][]
---@param below? (string|false)[] A line below each row, if there is one.
local function put_table(into, head, rows, below)
  if #rows == 0 then
    return
  end
  -- Tables of the same columns stand below each other.
  local widths = { FIRST }
  for _, cells in ipairs(vim.list_extend({ head }, rows)) do
    cells[1] = text.shortened(vim.fn.strtrans(cells[1]), MAX_NAME)
    for at, cell in ipairs(cells) do
      widths[at] = math.max(widths[at] or 0, vim.fn.strdisplaywidth(cell))
    end
  end
  local function line(cells)
    local parts = {}
    for at, cell in ipairs(cells) do
      local blank = (" "):rep(widths[at] - vim.fn.strdisplaywidth(cell))
      table.insert(parts, at == 1 and cell .. blank or blank .. cell)
    end
    return table.concat(parts, "  ")
  end
  if #into.lines > 0 then
    blocks.put(into, "")
  end
  blocks.put(into, line(head), "AzimuthUser")
  for at, cells in ipairs(rows) do
    blocks.put(into, line(cells))
    if below and below[at] then
      blocks.put(into, "  " .. below[at], "AzimuthDim")
    end
  end
end

---@param name string
---@param of azimuth.Spending
---@return string[]
local function row(name, of)
  return { name, ("%d"):format(of.requests), input(of.usage), text.count(of.usage.output), percent(of.cacheHits), M.amount(of) }
end

---@param head string
---@return string[]
local function heads(head)
  return { head, "requests", "input", "output", "cache", "cost" }
end

---@param spendings azimuth.SpendingRow[]
---@param prefix? string
---@return string[][]
local function rows_of(spendings, prefix)
  return vim.tbl_map(function(one)
    return row((prefix or "") .. (one.title or one.name), one.spending)
  end, spendings)
end

--- The first rows, and the sum of those that are left out.
---@param spendings azimuth.SpendingRow[]
---@return azimuth.SpendingRow[]
local function most(spendings)
  if #spendings <= MAX_ROWS then
    return spendings
  end
  local usage = { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }
  ---@type azimuth.Spending
  local sum = { requests = 0, usage = usage, unpricedRequests = 0 }
  for at = MAX_ROWS + 1, #spendings do
    local one = spendings[at].spending
    sum.requests = sum.requests + one.requests
    sum.unpricedRequests = sum.unpricedRequests + one.unpricedRequests
    sum.cost = one.cost and (sum.cost or 0) + one.cost or sum.cost
    for kind, count in pairs(usage) do
      usage[kind] = count + one.usage[kind]
    end
  end
  local all = usage.input + usage.cacheRead + usage.cacheWrite
  sum.cacheHits = all > 0 and usage.cacheRead / all or nil
  local shown = vim.list_slice(spendings, 1, MAX_ROWS)
  table.insert(shown, { name = ("%d more"):format(#spendings - MAX_ROWS), spending = sum })
  return shown
end

---@param into azimuth.Block
---@param activity? azimuth.Activity
local function put_activity(into, activity)
  if not activity or (activity.turns == 0 and activity.requests == 0 and #activity.tools == 0) then
    return
  end
  local counts = {}
  for _, name in ipairs({ "prompts", "turns", "requests" }) do
    table.insert(counts, { name, ("%d"):format(activity[name]) })
  end
  put_table(into, { "Its activity", "number" }, counts)
  local calls = {}
  for _, tool in ipairs(activity.tools) do
    table.insert(calls, { tool.name, ("%d"):format(tool.calls), ("%d"):format(tool.failed) })
  end
  put_table(into, { "Its calls of tools", "calls", "failed" }, calls)
  local speeds = {}
  for _, one in ipairs(activity.speeds) do
    local rate = one.tokensPerSecond and ("%.0f"):format(one.tokensPerSecond) or "-"
    table.insert(speeds, { one.model, ("%d"):format(one.answers), text.duration(one.firstMs), rate })
  end
  put_table(into, { "The speed of its models (median)", "answers", "first piece", "tokens/s" }, speeds)
end

---@param into azimuth.Block
---@param session azimuth.SessionCosts
local function put_session(into, session)
  if session.total.requests == 0 then
    return
  end
  local rows = { row("this conversation", session.total) }
  vim.list_extend(rows, rows_of(session.side, "of this, "))
  if session.children.requests > 0 then
    table.insert(rows, row("of this, other conversations", session.children))
  end
  put_table(into, heads("This conversation"), rows)
  if #session.models > 1 then
    put_table(into, heads("Its models"), rows_of(session.models))
  end
  local rounds, why = {}, {}
  for _, round in ipairs(session.rounds) do
    local paid = round.cost and text.dollars(round.cost) or "unknown"
    local name = ("%s  %s"):format(os.date("%H:%M", math.floor(round.at / 1000)), round.model)
    table.insert(rounds, { name, input(round.usage), text.count(round.usage.output), percent(round.cacheHits), paid })
    table.insert(why, round.missedBecause and "missed: " .. text.one_line(round.missedBecause, 300) or false)
  end
  put_table(into, { "Its last requests", "input", "output", "cache", "cost" }, rounds, why)
  put_activity(into, session.activity)
end

---@param into azimuth.Block
---@param costs azimuth.CostsShowResult
---@param now number
local function put_limits(into, costs, now)
  local budgets = vim.tbl_map(function(one)
    local name = one.scope == "session" and "this conversation" or "today, all conversations"
    return { name, text.dollars(one.spent), text.dollars(one.limit) }
  end, costs.budgets)
  put_table(into, { "Your budgets", "spent", "budget" }, budgets)
  local windows = {}
  for _, quota in ipairs(costs.quotas) do
    for _, window in ipairs(quota.windows) do
      local left = window.left and text.one_line(window.left):gsub(" left$", "")
        or window.remaining and ("%d of %d"):format(window.remaining, window.limit)
        or percent(1 - window.used)
      local resets = "-"
      if window.resetsAt then
        resets = window.resetsAt > now and "in " .. span(window.resetsAt - now) or "since then"
      end
      local whose = quota.account and ("%s (%s)"):format(quota.provider, text.one_line(quota.account)) or quota.provider
      table.insert(windows, { ("%s: %s"):format(whose, window.name), left, resets, span(now - quota.at) .. " ago" })
    end
  end
  put_table(into, { "What vendors allow", "left", "resets", "as told" }, windows)
end

--- The lines of the list.
---@param costs azimuth.CostsShowResult
---@param now number Milliseconds since the Unix epoch.
---@return azimuth.Block
function M.drawn(costs, now)
  local into = blocks.new()
  put_limits(into, costs, now)
  if costs.session then
    put_session(into, costs.session)
  end
  if costs.total.requests == 0 then
    blocks.put(into, "No model was asked so far.", "AzimuthDim")
    return into
  end
  put_table(into, heads("All conversations"), { row("today (UTC)", costs.today), row("all time", costs.total) })
  put_table(into, heads("By model"), rows_of(costs.models))
  put_table(into, heads("By provider"), rows_of(costs.providers))
  put_table(into, heads("By project"), rows_of(most(costs.projects or {})))
  put_table(into, heads("By day (UTC)"), rows_of(most(costs.days)))
  for _, one in ipairs(costs.unpriced) do
    local line = "Not in the costs, since the price was not known: %s (%s)."
    blocks.put(into, "")
    blocks.put(into, line:format(text.one_line(one.model, 80), text.plural(one.requests, "request")), "AzimuthDim")
  end
  if costs.suggestionsCost > 0 then
    blocks.put(into, "")
    local line = "Suggestions while you type cost %s in the last 90 days, in addition."
    blocks.put(into, line:format(text.dollars(costs.suggestionsCost)), "AzimuthDim")
  end
  return into
end

--- Asks the server, which is started if need be, and opens the list.
function M.open()
  client.request(protocol.requests.costs_show, { sessionId = client.session() }, function(err, result)
    if err then
      vim.notify("Azimuth: " .. err.message, vim.log.levels.ERROR)
      return
    end
    if list then
      list:close()
    end
    list = lists.open({
      title = "What models cost",
      footer = { "q closes", "R refreshes" },
      draw = function()
        return M.drawn(result, os.time() * 1000), {}
      end,
      keys = { { key = "R", desc = "refresh", run = M.open, always = true } },
      closed = function()
        list = nil
      end,
    })
  end)
end

return M
