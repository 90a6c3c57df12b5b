--- `:Azimuth permissions`: the permission rules in force, where they come from, and what was granted taken back.

local blocks = require("azimuth.render.block")
local client = require("azimuth.client")
local failed = require("azimuth.failed")
local confirm = require("azimuth.confirm")
local lists = require("azimuth.list")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

local requests = protocol.requests

--- The list that is open.
---@type azimuth.List?
local list = nil

---@type table<azimuth.RuleEffect, { [1]: string, [2]: string }>
local effects = {
  allow = { "allow", "AzimuthDone" },
  ask = { "ask", "AzimuthAsk" },
  deny = { "deny", "AzimuthFailed" },
}

---@type table<azimuth.RuleOrigin, string>
local origins = {
  user = "yours",
  project = "the project's",
  granted = "granted for the project",
  session = "granted for the session",
}

--- The lines of the list, and the rule at each.
---@param rules azimuth.RuleInfo[] In the order of their precedence.
---@param width integer
---@return azimuth.Block
---@return table<integer, azimuth.RuleInfo>
function M.drawn(rules, width)
  local block, items = blocks.new(), {}
  local function put(rule, line, group)
    blocks.put(block, line, group)
    items[#block.lines] = rule
  end
  for _, rule in ipairs(rules) do
    local effect = effects[rule.effect] or { rule.effect, "AzimuthDim" }
    local from = origins[rule.origin] or rule.origin
    if rule.source ~= "" and rule.origin ~= "session" then
      local source = rule.source:match("^/") and vim.fn.fnamemodify(rule.source, ":~:.") or rule.source
      from = ("%s, %s"):format(from, text.one_line(source, 60))
    end
    local room = math.max(16, width - vim.fn.strdisplaywidth(from) - 10)
    local line = ("%-5s %s"):format(effect[1], text.shortened(vim.fn.strtrans(text.one_line(rule.rule)), room))
    local rule_end = #line
    put(rule, ("%s  %s"):format(line, from))
    local row = #block.lines - 1
    table.insert(block.marks, { row = row, col = 0, end_col = #effect[1], group = rule.void and "AzimuthDim" or effect[2] })
    table.insert(block.marks, { row = row, col = rule_end, group = "AzimuthDim" })
    if rule.covers ~= "" then
      put(rule, "      " .. text.shortened(text.one_line(rule.covers), width - 6), "AzimuthDim")
    end
    if rule.void then
      put(rule, "      does not count now: " .. text.shortened(text.one_line(rule.void), width - 28), "AzimuthWarning")
    end
  end
  if #rules == 0 then
    blocks.put(block, "There is no rule. By default you are asked before a command runs, unless it is known to be read-only.", "AzimuthDim")
  end
  return block, items
end

---@param session_id azimuth.SessionId
---@param callback fun(rules: azimuth.RuleInfo[])
local function fetch(session_id, callback)
  client.request(requests.permission_list, { sessionId = session_id }, function(err, result)
    if not failed(err) then
      callback(result.rules)
    end
  end)
end

--- Takes a grant back, once the user has confirmed it.
---@param session_id azimuth.SessionId
---@param rule azimuth.RuleInfo
---@param renew fun()
local function revoke(session_id, rule, renew)
  if not rule.revocable then
    vim.notify(("Azimuth: this rule is not one that you granted by an answer; change it where it is written: %s."):format(
      text.one_line(rule.source)
    ))
    return
  end
  confirm.ask({
    title = "Take this back?",
    said = ("%s %s\n%s"):format(rule.effect, text.one_line(rule.rule), rule.covers),
    yes = "takes it back",
    here = confirm.here(),
    again = "",
  }, function()
    local params = { sessionId = session_id, rule = rule.rule, origin = rule.origin }
    client.request(requests.permission_revoke, params, function(err)
      if not failed(err) then
        vim.notify(("Azimuth: %s is revoked."):format(text.one_line(rule.rule)))
        renew()
      end
    end)
  end)
end

---@param session_id azimuth.SessionId
local function open(session_id)
  fetch(session_id, function(rules)
    local function renew()
      fetch(session_id, function(fresh)
        rules = fresh
        if list then
          list:draw()
        end
      end)
    end
    local function take_back(rule)
      revoke(session_id, rule, renew)
    end
    if list then
      list:close()
    end
    list = lists.open({
      title = "Permission rules, highest precedence first",
      footer = { "x or dd takes a grant back", "q closes" },
      draw = function(width)
        return M.drawn(rules, width)
      end,
      keys = {
        { key = "x", desc = "revoke what was granted", run = take_back },
        { key = "dd", desc = "revoke what was granted", run = take_back },
      },
      id = function(rule)
        return ("%s %s %s"):format(rule.effect, rule.rule, rule.origin)
      end,
      closed = function()
        list = nil
      end,
    })
  end)
end

--- Runs `:Azimuth permissions`.
function M.command()
  client.ensure_session(function(err, session_id)
    if not failed(err) then
      open(session_id)
    end
  end)
end

return M
