--- The words for a turn that goes on with another model.

local M = {}

--- The time of today, or with its day if it is another one.
---@param at integer Milliseconds since the Unix epoch.
---@return string
function M.when(at)
  local seconds = math.floor(at / 1000)
  local is_today = os.date("%Y-%m-%d") == os.date("%Y-%m-%d", seconds)
  return os.date(is_today and "%H:%M" or "%Y-%m-%d %H:%M", seconds) --[[@as string]]
end

--- Says which model or account could not be asked, why, until when, and which one continues.
---@param event azimuth.Event.TurnModelChanged
---@return string
function M.words(event)
  local before, next_one = event.insteadOf, event.model
  if event.account then
    local provider = event.model:match("^[^/]*")
    before = ("%s (%s)"):format(provider, event.account.insteadOf)
    next_one = ("%s (%s)"):format(provider, event.account.name)
  end
  local rest = event["until"] and " until " .. M.when(event["until"]) or ""
  local what = ({
    rate_limited = ("%s takes no more requests%s"):format(before, rest),
    quota_used_up = ("The quota of %s is used up"):format(before),
    unauthorized = ("%s cannot be asked"):format(before),
    failed = ("%s failed and is not asked%s"):format(before, rest),
    context_full = ("The conversation no longer fits into %s"):format(before),
  })[event.reason] or before .. " cannot be asked"
  local says_why = event.reason == "quota_used_up" or event.reason == "unauthorized"
  local why = says_why and event.error and (" (%s)"):format((event.error:gsub("%.$", ""))) or ""
  return ("%s%s; %s continues."):format(what, why, next_one)
end

return M
