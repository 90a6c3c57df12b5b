--- The models for other work than conversations: choosing one for a role, for now or for good.

local client = require("azimuth.client")
local failed = require("azimuth.failed")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

local requests = protocol.requests

--- The roles whose models are none for conversations, so that they are not in the list of those.
local of_typing = { completion = true, next_edit = true }

--- The words for taking back what was picked, or else what is kept; none if there is neither.
---@param role azimuth.RoleInfo
---@return string?
local function take_back_words(role)
  if role.picked then
    return "take back what was picked"
  end
  return role.kept and "take the setting out of config.toml" or nil
end

--- Has a role ask this model; without one, what holds without what was picked, or with `keep` without the setting.
---@param role azimuth.RoleInfo
---@param model? string
---@param keep boolean
local function put(role, model, keep)
  client.request(requests.model_pick, { role = role.role, model = model, keep = keep or nil }, function(err, result)
    if not failed(err) then
      local now = ("%s: %s, %s"):format(result.role.role, result.role.model or "no model of its own", result.role.why)
      vim.notify(("Azimuth: %s. %s."):format(text.one_line(result.text, 300), text.one_line(now, 300)))
    end
  end)
end

--- Asks for how long it counts.
---@param role azimuth.RoleInfo
---@param model string
local function ask_to_keep(role, model)
  local but = role.role == "plan" and ", but those in which you chose a model" or ""
  local items = {
    ("until Azimuth ends, in all conversations that this Neovim's Azimuth runs%s"):format(but),
    "keep it: write it into config.toml",
  }
  vim.ui.select(items, {
    prompt = ("Azimuth: %s for %s"):format(text.one_line(model, 80), role.words),
    kind = "azimuth.keep",
  }, function(item, at)
    if item then
      put(role, model, at == 2)
    end
  end)
end

--- Asks for a model by its name.
---@param role azimuth.RoleInfo
local function ask_for_name(role)
  vim.ui.input({ prompt = ("Azimuth: model for %s: "):format(role.words), default = role.model }, function(name)
    if not name then
      return
    end
    if vim.trim(name) ~= "" then
      ask_to_keep(role, vim.trim(name))
    elseif take_back_words(role) then
      put(role, nil, not role.picked)
    end
  end)
end

--- Chooses a model of the list.
---@param role azimuth.RoleInfo
local function choose(role)
  client.request(requests.model_list, {}, function(err, listed)
    if failed(err) then
      return
    end
    local items, describe = require("azimuth.pick").usable(listed)
    local take_back = take_back_words(role)
    if take_back then
      table.insert(items, false)
    end
    vim.ui.select(items, {
      prompt = ("Azimuth: model for %s"):format(role.words),
      kind = "azimuth.model",
      format_item = function(item)
        return item and describe(item) or "  " .. take_back
      end,
    }, function(item)
      if item == false then
        put(role, nil, not role.picked)
      elseif item then
        ask_to_keep(role, item.id)
      end
    end)
  end)
end

--- Chooses a role, then its model.
function M.pick()
  client.request(requests.model_roles, {}, function(err, result)
    if failed(err) then
      return
    end
    vim.ui.select(result.roles, {
      prompt = "Azimuth: models for different work",
      kind = "azimuth.role",
      format_item = function(role)
        local model = text.one_line(role.model or "no model of its own", 80)
        return ("%s: %s, %s"):format(role.words, model, text.one_line(role.why, 200))
      end,
    }, function(role)
      if role and of_typing[role.role] then
        ask_for_name(role)
      elseif role then
        choose(role)
      end
    end)
  end)
end

return M
